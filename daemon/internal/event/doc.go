// Package event tells what happened in the cluster: it compares what is derived at
// one [Moment] with the next ([Between]), and keeps the newest of what came of that
// ([Ring]). It owns no facts, writes no documents and reads no clock.
package event
