"""Skill services: the SDK that authors import, and the services shipped here."""
