package scenario

import "fulmen/native"

// The transports of a measured path.
const (
	TransportRDMA   = "rdma"
	TransportSocket = "socket"
)

// Measurements are recorded numbers, each of real machines like the simulated
// ones. Nothing is interpolated: what is not here is not known.
type Measurements struct {
	GPUs  []GPUMeasurement
	Links []LinkMeasurement
}

// GPUMeasurement is a Mac's GPU; a 0 is not recorded.
type GPUMeasurement struct {
	Mac             string
	FP16TFLOPS      float64
	MemoryBytesPerS float64
}

// LinkMeasurement is a path between two Macs.
type LinkMeasurement struct {
	// From and To are Macs.
	From, To string
	// Transport is [TransportRDMA] or [TransportSocket].
	Transport string
	// Over is the cable's receptacle at From ("tb4") for a path over
	// Thunderbolt, or the network's name.
	Over string
	// UpBitsPerS is from From to To, DownBitsPerS back; 0: not recorded.
	UpBitsPerS   float64
	DownBitsPerS float64
	// RTTUS is the round trip in microseconds, JitterUS its mean change from one
	// to the next; 0: not recorded.
	RTTUS    float64
	JitterUS float64
}

func readGPU(t *table) GPUMeasurement {
	gpu := GPUMeasurement{
		Mac:             t.required("mac", `"studio-1"`),
		FP16TFLOPS:      t.number("fp16_tflops"),
		MemoryBytesPerS: t.number("memory_bytes_per_s"),
	}
	t.done()
	return gpu
}

func readLink(t *table) LinkMeasurement {
	rate := func(key string) float64 {
		return float64(parsed(t, key, native.ParseLinkSpeed).TxBitsPerS)
	}
	link := LinkMeasurement{
		From:         t.required("from", `"studio-1"`),
		To:           t.required("to", `"studio-2"`),
		Transport:    requiredOneOf(t, "transport", TransportRDMA, TransportSocket),
		Over:         t.required("over", `"tb1" or a network's name`),
		UpBitsPerS:   rate("up"),
		DownBitsPerS: rate("down"),
		RTTUS:        t.number("rtt_us"),
		JitterUS:     t.number("jitter_us"),
	}
	t.done()
	return link
}
