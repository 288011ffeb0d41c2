"""Tests of speaking first."""
