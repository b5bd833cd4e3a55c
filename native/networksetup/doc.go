// Package networksetup reads what macOS' command networksetup prints: which
// hardware ports there are ([ParseHardwarePorts]) and in which order the network
// services are used ([ParseServiceOrder]).
//
// The lists are for people, so that a part of a recording is what somebody typed
// and a translation may change any word. What cannot be read is noted ([Notes]) and loses
// nothing beside it. Nothing here runs the command: the daemon has the same facts
// from the system's own store, and these are for recordings.
package networksetup
