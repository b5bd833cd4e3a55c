// Package beat lets the nodes of one job hear each other: each sends the others a
// beat every half second, and one of which nothing was heard for two seconds is
// lost. It owns when each was heard last, and publishes nothing: the job's actor is
// called. It is what notices a dead node before any lease does, and it costs nothing
// while nobody is to be heard: there is no timer and no packet then.
package beat
