"""The handlers that the SDK's server calls."""

from typing import Any

import mcp.types as t
from mcp import MCPError
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions

from mmem import __version__
from mmem.errors import InvalidArguments, MmemError, UnknownTool
from mmem.server.announcing import Announcer, Context
from mmem.server.answers import Result
from mmem.server.caller import Caller
from mmem.server.dialects import Dialect
from mmem.server.guidance import remember

_MOST_VALUES = 100  # of a completion, by the protocol


class Service:
    """One server: a dialect's tools, its resources, and in the default dialect completion and the prompt."""

    def __init__(self, dialect: Dialect, *, prompts: bool, categories: bool) -> None:
        """Serve a dialect; `categories` tells whether a client may choose one."""
        self._dialect = dialect
        self._caller = Caller(dialect)
        self._categories = categories
        self.announcer = Announcer(dialect)
        self._tools = t.ListToolsResult(tools=[t.Tool.model_validate(one) for one in dialect.definitions()])
        remembers = prompts and any(dialect.writes(tool.name) for tool in self._tools.tools)
        self.server: Server[Any] = Server(
            "mmem",
            version=__version__,
            title="mmem",
            instructions=dialect.instructions,
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,  # type: ignore[arg-type]  # a dict is taken as well, and costs less
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
            on_subscribe_resource=self.subscribe,
            on_unsubscribe_resource=self.unsubscribe,
            on_subscriptions_listen=self.announcer.listen,
            on_list_prompts=self.list_prompts if remembers else None,
            on_get_prompt=self.get_prompt if remembers else None,
            on_completion=self.complete if prompts else None,
        )
        self.server.middleware.clear()  # tracing that goes nowhere without an exporter

    def options(self) -> InitializationOptions:
        """Return what the handshake says."""
        return self.server.create_initialization_options(NotificationOptions(resources_changed=True))

    async def list_tools(self, context: Context, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        """Return all tools on one page."""
        return self._tools

    async def call_tool(self, context: Context, params: t.CallToolRequestParams) -> Result:
        """Run a tool. An unknown one is the protocol's error; whatever else goes wrong is the result's."""
        arguments = params.arguments or {}
        try:
            result = await self._caller.call(params.name, arguments)
        except UnknownTool as error:
            raise MCPError(code=t.INVALID_PARAMS, message=error.message) from None
        if not result["isError"] and self._dialect.writes(params.name):
            await self.announcer.wrote(self._dialect.category_of(arguments))
        return result

    async def list_resources(self, context: Context, params: t.PaginatedRequestParams | None) -> t.ListResourcesResult:
        """Return the graphs that can be read."""
        try:
            found = self._dialect.resources()
        except MmemError as error:
            raise MCPError(code=t.INTERNAL_ERROR, message=error.message) from None
        return t.ListResourcesResult(resources=[t.Resource.model_validate(one) for one in found])

    async def list_templates(
        self, context: Context, params: t.PaginatedRequestParams | None
    ) -> t.ListResourceTemplatesResult:
        """Return the templates of resources."""
        templates = [t.ResourceTemplate.model_validate(one) for one in self._dialect.templates()]
        return t.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, context: Context, params: t.ReadResourceRequestParams) -> t.ReadResourceResult:
        """Return a category's graph as JSON; where it was cut, a second text says so."""
        uri = str(params.uri)
        category = self._category(uri, existing=True)
        try:
            text, cut = await self._caller.graph_text(category)
        except MmemError as error:
            raise MCPError(code=t.INTERNAL_ERROR, message=error.message, data={"uri": uri}) from None
        contents = [t.TextResourceContents(uri=uri, mime_type="application/json", text=text)]
        if cut is not None:
            contents.append(t.TextResourceContents(uri=uri, mime_type="text/plain", text=cut))
        return t.ReadResourceResult(contents=list(contents))

    async def subscribe(self, context: Context, params: t.SubscribeRequestParams) -> t.EmptyResult:
        """Tell the client of changes from now on; the category may be one that is yet to come."""
        self.announcer.subscribe(context, self._category(str(params.uri), existing=False))
        return t.EmptyResult()

    async def unsubscribe(self, context: Context, params: t.UnsubscribeRequestParams) -> t.EmptyResult:
        """Tell the client nothing more."""
        category = self._dialect.category_at(str(params.uri))
        if category is not None:
            self.announcer.unsubscribe(category)
        return t.EmptyResult()

    def _category(self, uri: str, *, existing: bool) -> str:
        """Return the category of a resource. Raises `MCPError` where there is none."""
        category = self._dialect.category_at(uri)
        known = category is not None and (not existing or self._dialect.offers(category))
        if category is None or not known:
            raise MCPError(code=t.INVALID_PARAMS, message=f"Resource {uri[:300]} not found", data={"uri": uri})
        return category

    async def list_prompts(self, context: Context, params: t.PaginatedRequestParams | None) -> t.ListPromptsResult:
        """Return the one prompt."""
        about = t.PromptArgument(name="about", description="What to note; everything by default", required=False)
        category = t.PromptArgument(name="category", description="The category to note it in", required=False)
        prompt = t.Prompt(
            name="remember",
            title="Remember this conversation",
            description="Note what this conversation says that is worth keeping",
            arguments=[about, category] if self._categories else [about],
        )
        return t.ListPromptsResult(prompts=[prompt])

    async def get_prompt(self, context: Context, params: t.GetPromptRequestParams) -> t.GetPromptResult:
        """Return the prompt's text."""
        if params.name != "remember":
            raise MCPError(code=t.INVALID_PARAMS, message=f"Unknown prompt: {params.name[:200]}")
        given = params.arguments or {}
        try:
            category = self._dialect.category_of(given) if given.get("category") and self._categories else None
        except InvalidArguments as error:
            raise MCPError(code=t.INVALID_PARAMS, message=error.message) from None
        text = remember(category, (given.get("about") or "").strip() or None)
        message = t.PromptMessage(role="user", content=t.TextContent(type="text", text=text))
        return t.GetPromptResult(description="Note what is worth keeping", messages=[message])

    async def complete(self, context: Context, params: t.CompleteRequestParams) -> t.CompleteResult:
        """Complete the name of a category, of the resource template or of the prompt."""
        names: list[str] = []
        if self._categories and params.argument.name == "category":
            typed = params.argument.value.lower()
            names = [name for name in self._dialect.store.categories() if name.startswith(typed)]
        values, total = names[:_MOST_VALUES], len(names)
        return t.CompleteResult(completion=t.Completion(values=values, total=total, has_more=total > len(values)))
