package main

import (
	"reflect"

	"fulmen/daemon/api"
)

// least and most are the ends of a number's range.
func least(n any) object { return object{{"minimum", n}} }

func most(n any) object { return object{{"maximum", n}} }

// bounds are the range of a number or the length of a list, as far as the
// contract gives it: by the field itself, by its unit, or by its type.
func bounds(f field) object {
	if b, ok := fieldBounds()[f.Key()]; ok {
		return b
	}
	switch f.Unit {
	case "ratio":
		return append(least(0), most(1)...)
	case "bytes", "bits_per_s", "bytes_per_s", "us", "s", "tflops", "hz":
		return least(0)
	}
	if f.Type.Kind() == reflect.Uint64 {
		return least(0)
	}
	return nil
}

// fieldBounds are the ranges that comments of daemon/api give, by the fields' keys.
func fieldBounds() map[string]object {
	version := append(least(1), most(api.MaxCounter)...)
	history := object{{"maxItems", api.HistoryLength}}
	return map[string]object{
		"Document.Inc": version, "Document.Seq": version, "Version.Inc": version, "Version.Seq": version,
		"Job.Epoch": least(1), "Job.Attempt": append(least(0), most(api.MaxAttempt)...),
		"JobSpec.MaxAttempts":    append(least(0), most(api.MaxStarts)...),
		"JobRequest.MaxAttempts": append(least(0), most(api.MaxStarts)...),
		"GPUProfile.History":     history, "LinkProfile.History": history,
		"DaemonLogsParams.TailLines": least(0),
		"StateChanged.N":             least(1), "MeasureChanged.N": least(1), "DaemonLogged.N": least(1),
		// The slowest of several runs may take more than twice what the median does.
		"Timing.SpreadRatio": least(0),
		"Publish.Port":       append(least(1), most(65535)...),
	}
}
