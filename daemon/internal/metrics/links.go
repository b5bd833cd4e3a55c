package metrics

import (
	"strconv"

	"fulmen/daemon/api"
)

// links shows the paths: what is not measured is absent.
func (c collector) links(put put) {
	for _, row := range c.Links().Rows {
		path := row.Name
		if a, err := api.ParsePeerAddress(row.Name); err == nil {
			path = a.Address.String()
		} else if row.Transport != api.TransportRDMA {
			continue
		}
		labels := []string{string(row.From), string(row.To), one(row.Transport), one(row.Kind), path, strconv.FormatBool(row.Simulated)}
		known(put, linkRate, row.UpBitsPerS, append(labels[:len(labels):len(labels)], "up")...)
		known(put, linkRate, row.DownBitsPerS, append(labels[:len(labels):len(labels)], "down")...)
		known(put, linkRTT, row.RTTUS, labels...)
		known(put, linkJitter, row.JitterUS, labels...)
		known(put, linkLoss, row.LossRatio, labels...)
		if !row.MeasuredAt.IsZero() {
			put(linkMeasuredAt, seconds(row.MeasuredAt), labels...)
		}
		if row.Verdict.Valid() && row.Verdict != api.VerdictUnknown {
			put(linkGood, truth(row.Verdict == api.VerdictGood), labels...)
		}
	}
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
