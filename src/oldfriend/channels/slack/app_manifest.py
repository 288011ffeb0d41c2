"""App manifest: what Slack is told of the app, so that nobody has to click it together."""

import json
from typing import Final
from urllib.parse import quote

BOT_SCOPES: Final = (
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "users:read",
)
BOT_EVENTS: Final = (
    "app_mention",
    "channel_id_changed",
    "channel_left",
    "group_left",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
)
SLASH_COMMAND: Final = "/oldfriend"
MANIFEST: Final = {
    "display_information": {"name": "Oldfriend"},
    "features": {
        "app_home": {"messages_tab_enabled": True, "messages_tab_read_only_enabled": False},
        "bot_user": {"display_name": "Oldfriend", "always_online": True},
        "slash_commands": [
            {
                "command": SLASH_COMMAND,
                "description": "Give Oldfriend a command",
                "usage_hint": "help",
                "should_escape": True,
            }
        ],
    },
    "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
    "settings": {
        "event_subscriptions": {"bot_events": list(BOT_EVENTS)},
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}


def build_manifest_link() -> str:
    """Return the address at which Slack offers to make the app."""
    text = json.dumps(MANIFEST, separators=(",", ":"))
    return f"https://api.slack.com/apps?new_app=1&manifest_json={quote(text, safe='')}"
