// Package health owns this node's condition documents: what is wrong, or worth
// knowing, that only the node itself can know. It reads facts of the machine and what
// other packages tell it, and publishes those documents and nothing else.
//
// Every condition is a row of the table that [Conditions] gives: code,
// severity, text, remedy, action, and the codes that explain it. Others raise
// and clear conditions by code and subject; [Health] publishes those that
// nothing else explains, and takes back the others. Screens show what is
// published as it is.
package health
