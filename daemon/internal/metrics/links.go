package metrics

import (
	"strconv"

	"fulmen/daemon/api"
)

// links shows the cables and the paths: what is not measured is absent.
func (c collector) links(all nodes, put put) {
	links := c.Links()
	for _, cable := range links.Cables {
		if cable.Link.Valid() && isJudged(cable.Verdict) {
			labels := append(append([]string{all.cable(cable.Link)}, all.labels(cable.Link.Low.Node)...), all.labels(cable.Link.High.Node)...)
			put(cableGood, truth(cable.Verdict == api.VerdictGood), append(labels, one(cable.Kind), strconv.FormatBool(cable.Simulated))...)
		}
	}
	for _, row := range links.Rows {
		path := row.Name
		if a, err := api.ParsePeerAddress(row.Name); err == nil {
			path = a.Address.String()
		} else if row.Transport != api.TransportRDMA {
			continue
		}
		labels := append(all.labels(row.From), all.labels(row.To)...)
		labels = append(labels, one(row.Transport), one(row.Kind), path, all.cable(row.Link), strconv.FormatBool(row.Simulated))
		known(put, linkRate, row.UpBitsPerS, append(labels[:len(labels):len(labels)], "up")...)
		known(put, linkRate, row.DownBitsPerS, append(labels[:len(labels):len(labels)], "down")...)
		known(put, linkRTT, row.RTTUS, labels...)
		known(put, linkJitter, row.JitterUS, labels...)
		known(put, linkLoss, row.LossRatio, labels...)
		if !row.MeasuredAt.IsZero() {
			put(linkMeasuredAt, seconds(row.MeasuredAt), labels...)
		}
		if isJudged(row.Verdict) {
			put(linkGood, truth(row.Verdict == api.VerdictGood), labels...)
		}
	}
}

func isJudged(v api.LinkVerdict) bool { return v.Valid() && v != api.VerdictUnknown }

// cable is a cable's name, by its ends; empty where there is none.
func (all nodes) cable(link api.LinkID) string {
	if !link.Valid() {
		return ""
	}
	end := func(e api.LinkEnd) string { return all.labels(e.Node)[1] + ":" + strconv.Itoa(int(e.PortNumber)) }
	return end(link.Low) + " to " + end(link.High)
}

// known shows a number that is there.
func known[T int64 | float64](put put, f family, value *T, labels ...string) {
	if value != nil {
		put(f, float64(*value), labels...)
	}
}

// one is a word of a fixed set; of another version's words nothing is shown.
func one[W interface {
	~string
	Valid() bool
}](word W) string {
	if !word.Valid() {
		return "unknown"
	}
	return string(word)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func seconds(at api.Time) float64 { return float64(at.UnixMilli()) / 1e3 }
