// Package metrics shows the cluster's state in the form that Prometheus reads. It
// owns nothing: what a scrape shows is read when it comes. Labels are ids, kinds
// and states of fixed sets, never text of people, so that a name cannot make
// series without end or carry something into a dashboard.
package metrics
