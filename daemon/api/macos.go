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
)

// RankLabelsOf begins the labels of a node's ranks. Several daemons of one machine, as in
// the demo, share the system's supervisor and its processes.
func RankLabelsOf(node NodeID) string { return RankLabelPrefix + string(node) + "." }

// RankLabel is launchd's label of one rank: org.fulmen.rank.NODE.CLUSTER.JOB.ATTEMPT.RANK.
// Every process of the rank is found by it, and no other rank ever has the same.
func RankLabel(node NodeID, cluster ClusterID, rank RankRef) string {
	return RankLabelsOf(node) + string(cluster) + "." + string(rank.Job) + "." + strconv.Itoa(rank.Attempt) + "." + strconv.Itoa(rank.Rank)
}

// ServiceName is the network service that Fulmen makes for a receptacle.
func ServiceName(r PortNumber) string { return ServiceNamePrefix + r.String() }
