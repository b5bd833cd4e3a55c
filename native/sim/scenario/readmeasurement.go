package scenario

import "fulmen/native"

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
