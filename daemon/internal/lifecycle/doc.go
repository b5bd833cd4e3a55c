// Package lifecycle owns what a daemon knows of its own starts and ends: how often it
// ended without having been asked to ([Book]), that a person has stopped it, which
// outlives the process ([Stopped]), and whether the program that runs is still the
// one that is installed ([Program]). It reads its own files and the system's, and
// publishes no documents: the daemon raises conditions of what it finds. It also serves
// while a person has stopped the daemon ([AwaitStart]), opens the sockets that launchd or
// systemd hold or not ([Listen]), ends what runs before this node goes ([Departure]),
// keeps the machine awake meanwhile ([Awake]), and decides which programs may be started
// ([Trust]).
package lifecycle
