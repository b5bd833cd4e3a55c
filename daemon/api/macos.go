package api

import "strconv"

// Names on macOS. Label, program and signing identifier never change between
// releases: launchd, privacy consent and the keychain go by them.
const (
	// BundleID is the app's.
	BundleID = "org.fulmen.app"
	// BundleName is the app's folder.
	BundleName = "Fulmen.app"
	// BundleExecutable is CFBundleExecutable. APFS folds case, so it must not be Fulmen beside fulmen.
	BundleExecutable = "fulmen-app"
	// DaemonLabel is launchd's label of the daemon.
	DaemonLabel = "org.fulmen.daemon"
	// RankLabelPrefix begins launchd's labels of ranks.
	RankLabelPrefix = "org.fulmen.rank."
	// AdminRight is the authorisation that the class admin needs.
	AdminRight = "org.fulmen.admin"
	// AdminGroup is the group on Linux whose members are of class admin.
	AdminGroup = "fulmen"
	// MLXFolder is where the bundle keeps MLX, below Contents/Resources.
	MLXFolder = "mlx"
	// ServiceNamePrefix and a receptacle number name the network services that Fulmen makes.
	ServiceNamePrefix = "Fulmen Thunderbolt "
	// MinMacOS is the oldest system that the MLX in the bundle runs on.
	MinMacOS = "26.0"
	// MinRDMAMacOS is the oldest system with RDMA over Thunderbolt.
	MinRDMAMacOS = "26.2"
)

// RankLabel is launchd's label of one rank: org.fulmen.rank.JOB.RANK.
func RankLabel(job JobID, rank int) string {
	return RankLabelPrefix + string(job) + "." + strconv.Itoa(rank)
}

// ServiceName is the network service that Fulmen makes for a receptacle.
func ServiceName(r Receptacle) string { return ServiceNamePrefix + r.String() }
