package api

// RDMAReadiness is whether a cable can do RDMA, and why or why not.
type RDMAReadiness struct {
	// Link is the cable; absent where the other end does not run Fulmen.
	Link LinkID `json:"link,omitzero"`
	// Ends are the two ends, the lower first; one where the other is not known.
	Ends []CableEnd `json:"ends,omitempty"`
	// PeerName is what the other end calls itself, where it does not run Fulmen.
	PeerName string `json:"peer_name,omitempty"`
	// Verdict is the sum of the checks.
	Verdict RDMAVerdict `json:"verdict"`
	// Text is the verdict as one sentence for a person.
	Text string `json:"text"`
	// Checks are in the order in which a person goes through them.
	Checks []RDMACheck `json:"checks"`
	// ProbesSinceBoot is the larger of both ends' counts.
	ProbesSinceBoot int `json:"probes_since_boot"`
	// Stale says that an end cannot be reached now.
	Stale bool `json:"stale,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
}

// RDMACheck is one check.
type RDMACheck struct {
	// Check is its stable key.
	Check RDMACheckKey `json:"check"`
	// End is the end that it is about; absent where it is about the cable.
	End LinkEnd `json:"end,omitzero"`
	// Answer is yes, no or unknown.
	Answer Answer `json:"answer"`
	// Advice says that a no does not stop RDMA.
	Advice bool `json:"advice,omitempty"`
	// Reason is why it is not yes.
	Reason Reason `json:"reason,omitempty"`
	// Text is one sentence for a person.
	Text string `json:"text"`
	// Remedy is what to do.
	Remedy string `json:"remedy,omitempty"`
}

// RDMAVerdict is whether a cable can do RDMA.
type RDMAVerdict string

const (
	// RDMAReady can, now.
	RDMAReady RDMAVerdict = "ready"
	// RDMACanEnable can after rdma.enable.
	RDMACanEnable RDMAVerdict = "can_enable"
	// RDMANeedsPerson can after a person did something.
	RDMANeedsPerson RDMAVerdict = "needs_person"
	// RDMACannot never can: the hardware.
	RDMACannot RDMAVerdict = "cannot"
	// RDMAUnknown cannot be told.
	RDMAUnknown RDMAVerdict = "unknown"
)

// Values lists the verdicts, from the best.
func (RDMAVerdict) Values() []string {
	return words(RDMAReady, RDMACanEnable, RDMANeedsPerson, RDMACannot, RDMAUnknown)
}

// Valid reports whether the verdict belongs to this version.
func (v RDMAVerdict) Valid() bool { return known(v) }

// Answer is the answer of a check.
type Answer string

const (
	// AnswerYes is as it should be.
	AnswerYes Answer = "yes"
	// AnswerNo is not.
	AnswerNo Answer = "no"
	// AnswerUnknown cannot be told.
	AnswerUnknown Answer = "unknown"
)

// Values lists the answers.
func (Answer) Values() []string { return words(AnswerYes, AnswerNo, AnswerUnknown) }

// Valid reports whether the answer belongs to this version.
func (a Answer) Valid() bool { return known(a) }

// RDMACheckKey is a check of a cable for RDMA.
type RDMACheckKey string

const (
	// CheckFulmen asks whether the other end runs Fulmen and is paired.
	CheckFulmen RDMACheckKey = "fulmen"
	// CheckPortTB5 asks whether the port is Thunderbolt 5.
	CheckPortTB5 RDMACheckKey = "port_tb5"
	// CheckSpeed asks whether the slowest hop negotiated more than 40 Gb/s.
	CheckSpeed RDMACheckKey = "speed"
	// CheckOS asks whether the system is new enough.
	CheckOS RDMACheckKey = "os"
	// CheckSameBuild asks whether both systems are the same build; advice only.
	CheckSameBuild RDMACheckKey = "same_build"
	// CheckReceptacle asks whether the receptacle is one without known trouble; advice only.
	CheckReceptacle RDMACheckKey = "receptacle"
	// CheckSwitch asks whether the Mac's switch is on.
	CheckSwitch RDMACheckKey = "switch"
	// CheckDevice asks whether the port has an RDMA device.
	CheckDevice RDMACheckKey = "device"
	// CheckPeerOffers asks whether the other end offers the RDMA service.
	CheckPeerOffers RDMACheckKey = "peer_offers"
	// CheckPortActive asks whether the port is active.
	CheckPortActive RDMACheckKey = "port_active"
	// CheckNoBridge asks whether the interface is in no bridge.
	CheckNoBridge RDMACheckKey = "no_bridge"
	// CheckNoLoop asks whether no loop of bridged cables includes it.
	CheckNoLoop RDMACheckKey = "no_loop"
	// CheckIPv4GID asks whether the port has a GID made from an IPv4 address.
	CheckIPv4GID RDMACheckKey = "ipv4_gid"
	// CheckProbe asks whether the last test over the cable succeeded; advice only.
	CheckProbe RDMACheckKey = "probe"
)

// Values lists the checks, in the order in which a person goes through them.
func (RDMACheckKey) Values() []string {
	return words(CheckFulmen, CheckPortTB5, CheckSpeed, CheckOS, CheckSameBuild, CheckReceptacle, CheckSwitch,
		CheckDevice, CheckPeerOffers, CheckPortActive, CheckNoBridge, CheckNoLoop, CheckIPv4GID, CheckProbe)
}

// Valid reports whether the check belongs to this version.
func (c RDMACheckKey) Valid() bool { return known(c) }
