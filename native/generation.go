package native

import "fmt"

// Generation is the USB4 signalling generation of one lane.
type Generation string

// The generations and their rate per lane: 10, 20 and 40 Gb/s.
const (
	Gen2 Generation = "gen2"
	Gen3 Generation = "gen3"
	Gen4 Generation = "gen4"
)

// ThunderboltVersion is what a port is sold as.
type ThunderboltVersion string

// The versions. Only tb5 carries RDMA.
const (
	TB3 ThunderboltVersion = "tb3"
	TB4 ThunderboltVersion = "tb4"
	TB5 ThunderboltVersion = "tb5"
)

// Lane speed codes of the Thunderbolt registry: one bit per rate, used both as
// the current value and as a mask of what a port supports.
const (
	LaneCode40G uint32 = 2
	LaneCode20G uint32 = 4
	LaneCode10G uint32 = 8
)

// Router versions of the Thunderbolt registry.
const (
	RouterTB3    uint32 = 16
	RouterUSB4v1 uint32 = 32
	RouterUSB4v2 uint32 = 64
)

// LaneRate returns the bits per second and generation of a lane speed code.
// Code 0 means no link and is an error here, as is everything unlisted.
func LaneRate(code uint32) (bitsPerS int64, generation Generation, err error) {
	switch code {
	case LaneCode10G:
		return 10 * gigabit, Gen2, nil
	case LaneCode20G:
		return 20 * gigabit, Gen3, nil
	case LaneCode40G:
		return 40 * gigabit, Gen4, nil
	}
	return 0, "", fmt.Errorf("lane speed code %d is none of 8 (10 Gb/s), 4 (20 Gb/s), 2 (40 Gb/s)", code)
}

// PortCapability derives what a port is from the mask of speeds its lanes
// support and the version of its router. The mask decides: a tb5 port is one
// whose lanes do 40 Gb/s. Below that only the router tells tb4 from tb3, and
// without it (0) the answer is an error, not a guess.
func PortCapability(supportedSpeeds, routerVersion uint32) (ThunderboltVersion, error) {
	const slower = LaneCode20G | LaneCode10G
	switch {
	case supportedSpeeds&LaneCode40G != 0:
		return TB5, nil
	case supportedSpeeds&slower == 0:
		return "", fmt.Errorf("supported speed mask %d names no known speed", supportedSpeeds)
	case routerVersion >= RouterUSB4v1:
		return TB4, nil
	case routerVersion == RouterTB3:
		return TB3, nil
	}
	return "", fmt.Errorf("speed mask %d with router version %d is tb3 or tb4, not told which", supportedSpeeds, routerVersion)
}
