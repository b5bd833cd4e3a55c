// Package show draws what the API says as text for people: the node's state,
// tables of nodes, problems, measurements, tokens and configuration. It takes
// values and the time, and does no I/O but writing, so that golden files test
// every screen. What is not known is shown as unknown, and on wide screens with
// its reason.
package show
