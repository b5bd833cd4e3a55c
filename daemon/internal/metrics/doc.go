// Package metrics shows the cluster's state in the form that Prometheus reads. It
// owns nothing: what a scrape shows is read when it comes. Labels are ids, kinds
// and states of fixed sets, and beside an id the name that it has now, which the
// library quotes: of people's other texts nothing is shown.
package metrics
