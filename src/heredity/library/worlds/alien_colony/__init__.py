"""Alien colony: decide what a colony gathers, serves and builds, without knowing its needs."""
