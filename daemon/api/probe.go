package api

import (
	"iter"
	"time"
)

const (
	// KeptInARow is how often in a row a kept job may end for one cause until it counts as failed.
	KeptInARow = 4
	// KeptReady is how long it has to be ready for that to begin anew.
	KeptReady = 10 * time.Minute
)

// Probes are those of what rank 0 serves, as Kubernetes has them. They are made by the node
// of rank 0, to ports of the loopback at which a process of the rank listens.
type Probes struct {
	// Startup is tried until it succeeds; the others begin then. Where it fails for good the rank is ended.
	Startup *Probe `json:"startup,omitempty"`
	// Readiness says whether the job can be used now.
	Readiness *Probe `json:"readiness,omitempty"`
	// Liveness ends the rank, and so the attempt, where it fails for good.
	Liveness *Probe `json:"liveness,omitempty"`
}

// Probe is one of them: a command where it has one, an HTTP request where it has a path, else a
// connection.
type Probe struct {
	// Command is run beside rank 0, as its account and with its directory and environment; exit
	// code 0 is success. There is no shell, and no port.
	Command []string `json:"command,omitempty"`
	// Port is where the program listens.
	Port int `json:"port,omitempty"`
	// Path is what is asked for, with its query, such as /health. 200 to 399 is success.
	Path string `json:"path,omitempty"`
	// Body is JSON that is posted there, such as a real request; without one it is a GET.
	Body string `json:"body,omitempty"`
	// PeriodS is how long it rests between two; 0 = 10. Until it is ready for the first time it is asked every second.
	PeriodS float64 `json:"period_s,omitempty"`
	// TimeoutS is how long an answer may take; 0 = 5.
	TimeoutS float64 `json:"timeout_s,omitempty"`
	// FailureThreshold is how many failures in a row count; 0 = 3, for startup 600.
	FailureThreshold int `json:"failure_threshold,omitempty"`
}

// Metrics are where a program counts the tokens that it makes, in Prometheus' text format, at
// the first port that its job publishes. They are read only while somebody looks.
type Metrics struct {
	// Path is what is asked for, such as /metrics.
	Path string `json:"path"`
	// Series is the name of a counter of tokens, such as llamacpp:tokens_predicted_total. All that have it are added up, whatever their labels.
	Series string `json:"series"`
}

// All are those that there are, with their names.
func (p *Probes) All() iter.Seq2[string, *Probe] {
	return func(yield func(string, *Probe) bool) {
		if p == nil {
			return
		}
		for _, one := range []struct {
			name  string
			probe *Probe
		}{{"startup", p.Startup}, {"readiness", p.Readiness}, {"liveness", p.Liveness}} {
			if one.probe != nil && !yield(one.name, one.probe) {
				return
			}
		}
	}
}
