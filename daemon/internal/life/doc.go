// Package life owns what a daemon knows of its own starts and ends: how often it
// ended without having been asked to ([Book]), that a person has stopped it, which
// outlives the process ([Stopped]), and whether the program that runs is still the
// one that is installed ([Program]). It writes no documents: the daemon raises
// conditions of what it finds.
package life
