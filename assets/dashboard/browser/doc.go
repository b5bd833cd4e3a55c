// Package browser looks at the dashboard as a person does: Chromium opens it on
// the daemons of a simulated cluster, and the tests beside this file, written for
// Vitest, click, read and take pictures. What they need of the cluster beyond the
// page, such as a cable that is pulled, a daemon that ends or the command line,
// they ask of a small server that the Go test runs beside them.
package browser
