"""Command-line options of the commands that run, connect and administer the server."""

from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.options import (
    Subparsers,
    add_command,
    add_core_command,
    add_new_person_option,
    add_port_option,
    parse_days,
    parse_positive,
)
from oldfriend.domain.messages import sanitize_text


def add_server_commands(commands: Subparsers) -> None:
    """Add the commands for the server process and its upkeep."""
    serve = add_command(
        commands,
        "serve",
        "serve",
        "run the companion with its web page and chat platforms until it is stopped",
    )
    serve.add_argument("--open", action="store_true", help="open the page in your browser")
    add_port_option(serve)
    link = add_command(
        commands, "link", "link", "print a one-time link that signs you in to the web page"
    )
    what = link.add_mutually_exclusive_group()
    what.add_argument("--code", action="store_true", help="print a code for another app of yours")
    what.add_argument("--places", action="store_true", help="list where you are known")
    what.add_argument("--take", metavar="CODE", help="join with whoever was shown a code")
    what.add_argument(
        "--undo", metavar="ID", nargs="?", const="", help="undo such a joining, the last or this"
    )
    link.add_argument("--yes", action="store_true", help="join without asking")
    add_access_commands(commands)
    add_mcp_command(commands)
    add_command(commands, "work", "work", "run an additional worker for the same memory")
    add_command(
        commands,
        "stop",
        "server_signals:run_stop",
        "stop the server once it has finished the replies it has begun",
    )
    add_command(
        commands,
        "reload",
        "server_signals:run_reload",
        "make the running server read oldfriend.toml again",
    )
    status = add_command(
        commands,
        "status",
        "status",
        "show whether the server is running, what is waiting, and which models are used",
    )
    status.add_argument("--json", action="store_true", help="print it as JSON")
    jobs = add_command(
        commands,
        "jobs",
        "jobs",
        "list, retry or drop background jobs that are waiting or have failed",
        aliases=("letters",),
    )
    jobs.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="leave it out to list the jobs; or: retry ID; or: drop ID",
    )
    jobs.add_argument(
        "--failed", "--parked", dest="failed", action="store_true", help="list only failed jobs"
    )
    jobs.add_argument("--yes", action="store_true", help="drop without asking for confirmation")
    jobs.add_argument("--json", action="store_true", help="print the list as JSON")
    add_list_commands(commands)
    cost = add_command(
        commands,
        "cost",
        "stats:run_cost",
        "show what models have cost, and what is left of today's budget",
    )
    cost.add_argument(
        "--by",
        choices=("purpose", "day", "model"),
        default="purpose",
        help="how to group the cost (default purpose)",
    )
    cost.add_argument(
        "--days", type=parse_days, default=30, metavar="N", help="the last N days (default 30)"
    )
    cost.add_argument("--json", action="store_true", help="print it as JSON")
    add_audit_commands(commands)


def add_list_commands(commands: Subparsers) -> None:
    """Add the commands for reminders and goals."""
    tasks = add_command(
        commands, "tasks", "tasks", "list reminders and to-dos; mark one as done, or cancel it"
    )
    tasks.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="leave it out to list them; or: done ID, cancel ID, export FILE, import FILE",
    )
    tasks.add_argument("--json", action="store_true", help="print the list as JSON")
    goals = add_command(
        commands, "goals", "goals", "list goals; set one, end one, or count what was done for it"
    )
    goals.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="leave it out to list them; or: add TEXT, done ID, drop ID, did ID",
    )
    goals.add_argument("--json", action="store_true", help="print the list as JSON")
    watches = add_command(
        commands, "watches", "watches", "list the pages that are watched; watch one, or end one"
    )
    watches.add_argument(
        "what",
        nargs="*",
        type=sanitize_text,
        metavar="ID",
        help="leave it out to list them; or: add URL, add URL below 50, stop ID",
    )
    watches.add_argument("--json", action="store_true", help="print the list as JSON")


def add_connect_command(commands: Subparsers) -> None:
    """Add the command for choosing models and connecting chat platforms."""
    titles = " or ".join(spec.title for spec in CHANNELS.values())
    bots = "; ".join(
        f"{spec.name}: a {spec.title} bot, and a code for --person to send to it"
        for spec in CHANNELS.values()
    )
    connect = add_command(
        commands, "connect", "connect", f"set up language models, voice or {titles}"
    )
    connect.add_argument(
        "what",
        choices=(
            "model",
            "embedder",
            "transcriber",
            "speaker",
            "mcp",
            "oura",
            *CHANNELS,
            "none",
            "forget",
        ),
        help="model: a language model; embedder: an embedding model; transcriber: speech to "
        "text; speaker: text to speech; mcp: a server of tools that the settings name (--name); "
        "oura: the Oura ring of --person, or of yourself; "
        f"{bots}; none: use no model; forget: delete a stored key",
    )
    add_new_person_option(connect)
    connect.add_argument(
        "--remove",
        action="store_true",
        help=f"with {' or '.join(CHANNELS)}: disconnect the bot; with --person, only that person; "
        "with oura: disconnect the ring",
    )
    connect.add_argument(
        "--provider", type=sanitize_text, metavar="NAME", help="the provider, such as ollama"
    )
    connect.add_argument(
        "--name", type=sanitize_text, metavar="NAME", help="the model's name at the provider"
    )
    connect.add_argument(
        "--base-url", type=sanitize_text, metavar="URL", help="the provider's address"
    )
    connect.add_argument(
        "--kind",
        choices=("openai", "openai-responses", "anthropic", "ollama"),
        help="the API that the provider speaks",
    )
    connect.add_argument(
        "--key-from-env",
        type=sanitize_text,
        metavar="VAR",
        help="the environment variable that holds the API key",
    )
    connect.add_argument(
        "--dimension",
        type=parse_positive,
        metavar="N",
        help="the length of the vectors of an embedding model that is saved without a test",
    )
    connect.add_argument(
        "--voice", type=sanitize_text, metavar="NAME", help="the voice of a text-to-speech model"
    )
    connect.add_argument("--no-test", action="store_true", help="save without a test")
    connect.add_argument(
        "--later", action="store_true", help="compute the new embeddings later, in the background"
    )
    connect.add_argument("--yes", action="store_true", help="do not ask for confirmation")


def add_admin_commands(commands: Subparsers) -> None:
    """Add the commands for administration and measurement."""
    add_core_command(commands)
    person = add_command(
        commands,
        "person",
        "access:run_person",
        "list the people who use this memory, or rename one",
    )
    person.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="list; or: rename OLD NEW",
    )
    add_command(commands, "doctor", "doctor", "check the database, settings and connections")
    add_command(
        commands, "migrate", "database_commands:run_migrate", "update the database to this version"
    )
    bench = add_command(commands, "bench", "evals", "measure search quality, speed and size")
    bench.set_defaults(measurement="bench")
    bench.add_argument("--json", metavar="FILE", help="also write the results to a file")
    bench.add_argument("--only", metavar="NAME", action="append", help="only these measurements")
    bench.add_argument(
        "--quick", action="store_true", help="smaller sizes: faster, but with rougher figures"
    )
    compare = add_command(
        commands, "eval", "evals", "compare settings by replaying simulated lives"
    )
    compare.set_defaults(measurement="eval")
    compare.add_argument(
        "what", choices=("scoring",), help="scoring: the scorers of beliefs, also on your own log"
    )
    compare.add_argument("--json", action="store_true", help="print it as JSON")


def add_audit_commands(commands: Subparsers) -> None:
    """Add the commands that list tools and what was done."""
    tools = add_command(
        commands, "tools", "tools", "list the tools, and what they were used for lately"
    )
    tools.add_argument("--json", action="store_true", help="print it as JSON")
    audit = add_command(
        commands,
        "audit",
        "tools:run_audit",
        "list what was done for somebody: model calls, tools and deletions, with their cost",
    )
    audit.add_argument(
        "--limit", type=int, default=50, metavar="N", help="the last N entries (default 50)"
    )
    audit.add_argument("--json", action="store_true", help="print it as JSON")


def add_mcp_command(commands: Subparsers) -> None:
    """Add the command that serves another program."""
    mcp = add_command(
        commands,
        "mcp",
        "mcp_server",
        "give another program this memory as tools (Model Context Protocol); it starts this itself",
    )
    mcp.add_argument("--read-only", action="store_true", help="the program may not store anything")
    mcp.add_argument(
        "--own-words",
        action="store_true",
        help="what the program stores counts as your own words, from which facts may be learned",
    )


def add_access_commands(commands: Subparsers) -> None:
    """Add the commands for invitations and API tokens."""
    invite = add_command(
        commands, "invite", "access:run_invite", "invite somebody with a link that works once"
    )
    invite.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="NAME",
        help="the name of the person; or: list, to show invitations; or: end ID, to withdraw one",
    )
    token = add_command(
        commands,
        "token",
        "access:run_token",
        "create, list, renew or revoke API tokens for programs",
    )
    token.add_argument(
        "what",
        nargs="+",
        type=sanitize_text,
        metavar="WHAT",
        help="new NAME, to create one; or: list; or: renew ID, for a new secret and more days; or: "
        "end ID, to revoke one; or: code, to introduce somebody to a chat front end",
    )
    token.add_argument(
        "--scope",
        choices=("read", "write", "speak", "frontend", "admin"),
        help="read; also write; speak: what a program passes on over MCP counts as your own words; "
        "frontend: only to talk through a chat front end, for each of its users; "
        "also administer this installation (default read)",
    )
    token.add_argument(
        "--days",
        type=parse_positive,
        metavar="N",
        help="days until it expires (default: 90; renewed, as many as it had)",
    )
