// Package health owns this node's condition documents: what is wrong, or worth
// knowing, that only the node itself can know.
//
// Every condition is a row of the table that [Conditions] gives: code,
// severity, text, remedy, action, and the codes that explain it. Others raise
// and clear conditions by code and subject; [Health] publishes those that
// nothing else explains, and takes back the others. Screens show what is
// published as it is.
package health
