"""Settings that all tests share."""

from hypothesis import HealthCheck, settings

# Compilation makes the first example slow, so no example has a deadline.
settings.register_profile("praemia", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("praemia")
