package scenario

// Measurements are recorded numbers, each of real machines like the simulated
// ones. Nothing is interpolated: what is not here is not known.
type Measurements struct {
	GPUs  []GPUMeasurement
	Links []LinkMeasurement
}

// GPUMeasurement is a Mac's GPU.
type GPUMeasurement struct {
	Mac             string
	FP16TFLOPS      float64
	MemoryBytesPerS float64
}

// LinkMeasurement is a path between two Macs.
type LinkMeasurement struct {
	// From and To are Macs.
	From, To string
	// Transport is "rdma" or "socket".
	Transport string
	// Over is the cable's receptacle at From for a path over Thunderbolt, or
	// the network's name.
	Over string
	// UpBitsPerS is from From to To, DownBitsPerS back.
	UpBitsPerS   float64
	DownBitsPerS float64
	// RTTUS is the round trip in microseconds.
	RTTUS    float64
	JitterUS float64
}
