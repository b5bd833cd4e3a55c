package metrics

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fulmen/daemon/api"
)

// family is one metric: its name, its help and its labels.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// families are all metrics that are shown.
var families []family

// shown makes a family of those that are shown.
func shown(kind prometheus.ValueType, name, help string, labels ...string) family {
	f := family{prometheus.NewDesc("fulmen_"+name, help, labels, nil), kind}
	families = append(families, f)
	return f
}

func gauge(name, help string, labels ...string) family {
	return shown(prometheus.GaugeValue, name, help, labels...)
}

func pathLabels() []string {
	return []string{"from", "from_name", "to", "to_name", "transport", "kind", "path", "cable", "simulated"}
}

var (
	buildInfo        = gauge("info", "1, with the version of Fulmen and this node.", "version", "node")
	memberCount      = gauge("members", "Members of the cluster.")
	reachedCount     = gauge("nodes_reached", "Members that are reached, this node among them.")
	nodeUp           = gauge("node_up", "1 where a member is reached.", "node", "name", "simulated")
	memoryTotal      = gauge("memory_total_bytes", "Physical memory.", "node", "name")
	memoryUsed       = gauge("memory_used_bytes", "Memory in use; absent where the node is not reached, as are all that move.", "node", "name")
	memoryAvailable  = gauge("memory_available_bytes", "Memory that a new program could get.", "node", "name")
	gpuUse           = gauge("gpu_use_ratio", "The part of the time in which the GPU was busy.", "node", "name")
	powerDraw        = gauge("power_watts", "The whole machine's power where it is known, else the chip's.", "node", "name")
	gpuFP16          = gauge("gpu_fp16_tflops", "Measured fp16 matrix products, in 10^12 operations a second.", "node", "name", "device", "simulated")
	gpuMemoryRate    = gauge("gpu_memory_bytes_per_s", "Measured memory bandwidth.", "node", "name", "device", "simulated")
	gpuMeasuredAt    = gauge("gpu_measured_timestamp_seconds", "When the GPU was measured.", "node", "name")
	linkRate         = gauge("link_bits_per_s", "Measured payload of a path; up is toward the node that the label to names.", append(pathLabels(), "direction")...)
	linkRTT          = gauge("link_rtt_us", "Measured median round trip.", pathLabels()...)
	linkJitter       = gauge("link_jitter_us", "Measured mean difference of consecutive round trips.", pathLabels()...)
	linkLoss         = gauge("link_loss_ratio", "Measured part of the packets that did not come back.", pathLabels()...)
	linkMeasuredAt   = gauge("link_measured_timestamp_seconds", "When the path was measured.", pathLabels()...)
	cableGood        = gauge("cable_good", "1 where a cable is as it should be, 0 where it is slow, bad or down; absent where that is not known.", "cable", "from", "from_name", "to", "to_name", "kind", "simulated")
	linkGood         = gauge("link_good", "1 where a path is as it should be, 0 where it is slow, bad or down; absent where that is not known.", pathLabels()...)
	conditionCount   = gauge("conditions", "What is wrong: how many of a kind.", "node", "name", "severity", "condition")
	jobCount         = gauge("jobs", "Jobs by phase.", "phase")
	measurementCount = shown(prometheus.CounterValue, "measurements_total", "Measurements of this node's GPU and paths that have ended.", "subject", "asked", "state")
	missedCount      = shown(prometheus.CounterValue, "missed_events_total", "Changes of this machine that no event of the system announced and the slow re-read (60 s) found.")
)

// collector shows a source.
type collector struct{ Source }

// Describe is Prometheus's.
func (c collector) Describe(out chan<- *prometheus.Desc) {
	for _, f := range families {
		out <- f.desc
	}
}

// Collect is Prometheus's.
func (c collector) Collect(out chan<- prometheus.Metric) {
	put := func(f family, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, value, labels...)
	}
	put(buildInfo, 1, c.Version, string(c.Node))
	list := c.Nodes()
	all := nodesOf(list)
	all.put(list.Totals, put)
	c.documents(all, put)
	c.links(all, put)
	for _, m := range c.Measurements() {
		put(measurementCount, float64(m.Count), string(m.Kind), strconv.FormatBool(m.IsAsked), string(m.State))
	}
	put(missedCount, float64(c.Missed()))
}

type put func(f family, value float64, labels ...string)

// nodes are the members by id.
type nodes map[api.NodeID]api.NodeView

func nodesOf(list api.NodeListResult) nodes {
	all := nodes{}
	for _, n := range list.Nodes {
		if n.Liveness != api.LivenessRemoved {
			all[n.Node] = n
		}
	}
	return all
}

func (all nodes) put(totals api.Totals, put put) {
	put(memberCount, float64(totals.Members))
	put(reachedCount, float64(totals.Nodes))
	for node, n := range all {
		put(nodeUp, truth(n.Liveness.Reached()), append(all.labels(node), strconv.FormatBool(n.Simulated))...)
	}
}

// labels are those of a node: its id and its name.
func (all nodes) labels(node api.NodeID) []string {
	return []string{string(node), strings.ToValidUTF8(all[node].ShortName, "?")}
}

func (c collector) documents(all nodes, put put) {
	type kind struct {
		node api.NodeID
		how  api.Severity
		what string
	}
	wrong, jobs := map[kind]int{}, map[api.JobPhase]int{}
	for _, d := range c.Docs(kinds()...) {
		labels, simulated := all.labels(d.Node), strconv.FormatBool(d.Simulated)
		if (d.Kind == api.KindMemory || d.Kind == api.KindSystem) && !all[d.Node].Liveness.Reached() {
			continue // its figures do not move
		}
		switch d.Kind {
		case api.KindMemory:
			if v, ok := decoded[api.Memory](d); ok {
				known(put, memoryTotal, v.TotalBytes, labels...)
				known(put, memoryUsed, v.UsedBytes, labels...)
				known(put, memoryAvailable, v.AvailableBytes, labels...)
			}
		case api.KindSystem:
			if v, ok := decoded[api.System](d); ok {
				known(put, gpuUse, v.GPUUseRatio, labels...)
				known(put, powerDraw, cmp.Or(v.SystemPowerWatts, v.PackagePowerWatts), labels...)
			}
		case api.KindGPUProfile:
			if v, ok := decoded[api.GPUProfile](d); ok && !v.MeasuredAt.IsZero() {
				known(put, gpuFP16, v.FP16TFLOPS, append(labels, one(v.Device), simulated)...)
				known(put, gpuMemoryRate, v.MemoryBytesPerS, append(labels, one(v.Device), simulated)...)
				put(gpuMeasuredAt, seconds(v.MeasuredAt), labels...)
			}
		case api.KindCondition:
			if v, ok := decoded[api.Condition](d); ok && v.Severity.Valid() && !v.Muted {
				what := "unknown"
				if _, isKnown := api.LookupReason(v.Code); isKnown {
					what = string(v.Code)
				}
				wrong[kind{d.Node, v.Severity, what}]++
			}
		case api.KindJob:
			if v, ok := decoded[api.Job](d); ok && v.Phase.Valid() {
				jobs[v.Phase]++
			}
		}
	}
	for k, n := range wrong {
		put(conditionCount, float64(n), append(all.labels(k.node), string(k.how), k.what)...)
	}
	for phase, n := range jobs {
		put(jobCount, float64(n), string(phase))
	}
}

func decoded[T any](d api.Document) (v T, ok bool) {
	return v, d.Decode(&v) == nil
}

// Handler answers scrapes: the source, and what the daemon's process uses. Who may
// ask is the server's to say.
func Handler(source Source) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collector{source},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	// A document that contradicts another must not hide all the others.
	shown := promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		source.Watch(r.Context())
		shown.ServeHTTP(w, r)
	})
}

// Source is what is shown.
type Source struct {
	// Version is that of Fulmen, Node this node.
	Version string
	Node    api.NodeID
	// Nodes are the members as this node sees them, with the totals.
	Nodes func() api.NodeListResult
	// Links is the graph.
	Links func() api.LinkListResult
	// Docs are the documents of some kinds.
	Docs func(kinds ...api.Kind) []api.Document
	// Measurements are how many measurements of this node's subjects have ended.
	Measurements func() []Measurements
	// Missed is how many changes of this machine no event announced.
	Missed func() uint64
	// Watch counts a scrape as somebody who watches, and returns when what moves has been read.
	Watch func(context.Context)
}

// Measurements is a number of measurements that have ended alike.
type Measurements struct {
	// Kind is what was measured.
	Kind api.Kind
	// IsAsked says that somebody asked for it.
	IsAsked bool
	// State is how they ended.
	State api.MeasureState
	// Count is how many.
	Count uint64
}

// kinds are the documents that are read at a scrape.
func kinds() []api.Kind {
	return []api.Kind{api.KindGPUProfile, api.KindMemory, api.KindSystem, api.KindCondition, api.KindJob}
}
