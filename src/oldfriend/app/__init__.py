"""App: the application context, leases, notifications, model call recording and usage."""
