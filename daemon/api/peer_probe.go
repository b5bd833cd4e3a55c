package api

// PeerProbeParams is one step of a test of a cable over RDMA, asked of the end
// that does not measure. The steps of one test come in order.
type PeerProbeParams struct {
	// Step is what to do.
	Step PeerProbeStep `json:"step"`
	// Measurement tells this test from others, and holds what it needs.
	Measurement MeasureID `json:"measurement"`
	// Attempt tells the tries of one measurement apart, from 1.
	Attempt int `json:"attempt"`
	// Link is the cable.
	Link LinkID `json:"link"`
	// Devices is JACCL's matrix of both ends' devices; to run only.
	Devices [][][]string `json:"devices,omitempty"`
}

// PeerProbeResult is what a step gave.
type PeerProbeResult struct {
	// Device is the RDMA device of the end that was asked; of hold only.
	Device string `json:"device,omitempty"`
}

// PeerProbeStep is what one end asks the other to do.
type PeerProbeStep string

const (
	// ProbeHold takes what the test needs there, or says why it cannot be had now.
	ProbeHold PeerProbeStep = "hold"
	// ProbeRun runs rank 1 there; the answer comes with its end.
	ProbeRun PeerProbeStep = "run"
	// ProbeRelease ends what runs and gives everything back.
	ProbeRelease PeerProbeStep = "release"
)

// Values lists the steps, in order.
func (PeerProbeStep) Values() []string { return words(ProbeHold, ProbeRun, ProbeRelease) }

// Valid reports whether the step belongs to this version.
func (s PeerProbeStep) Valid() bool { return known(s) }
