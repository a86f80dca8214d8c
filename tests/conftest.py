"""Settings that all tests share."""

from hypothesis import HealthCheck, Phase, settings

# Compilation makes the first example slow, so no example has a deadline.
settings.register_profile("praemia", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For whoever wants to know only whether a test fails.
settings.register_profile("unshrunk", settings.get_profile("praemia"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("praemia")
