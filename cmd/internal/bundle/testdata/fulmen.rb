cask "fulmen" do
  version "1.2.3"
  sha256 "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a"

  url "https://github.com/ada/fulmen/releases/download/v#{version}/Fulmen-#{version}.dmg"
  name "Fulmen"
  desc "Makes Macs joined by Thunderbolt 5 one machine for MLX"
  homepage "https://github.com/ada/fulmen"

  depends_on arch: :arm64
  depends_on macos: ">= :tahoe"

  app "Fulmen.app"
  binary "#{appdir}/Fulmen.app/Contents/MacOS/fulmen"

  # The daemon is root's and starts programs of this bundle: they must be root's too, or it refuses them.
  postflight do
    set_ownership "#{appdir}/Fulmen.app", user: "root", group: "wheel"
    # After an upgrade the daemon runs on, from the programs that were there: this has it begin anew. Jobs go on.
    if File.exist?("/var/run/fulmen.sock")
      system_command "#{appdir}/Fulmen.app/Contents/MacOS/fulmen", args: ["restart"], sudo: true, must_succeed: false
    end
  end

  # An upgrade runs this too, so nothing here ends the daemon.
  uninstall quit: "org.fulmen.app"

  # What was changed for RDMA and not put back is recorded in rdma-undo.json, which stays.
  zap launchctl: "org.fulmen.daemon",
      delete:    [
        "/Library/Logs/Fulmen",
        "/Library/Logs/fulmend.err",
        "/Library/Application Support/Fulmen/config.toml",
        "/Library/Application Support/Fulmen/identity.key*",
        "/Library/Application Support/Fulmen/jobs",
        "/Library/Application Support/Fulmen/life.json",
        "/Library/Application Support/Fulmen/state.db*",
        "/var/run/fulmen",
        "/var/run/fulmen.sock",
      ],
      rmdir:     "/Library/Application Support/Fulmen",
      trash:     [
        "~/Library/Application Support/Fulmen",
        "~/Library/Logs/Fulmen",
      ]

  caveats <<~EOS
    Before Fulmen is removed for good, put back what it changed on this Mac:
      sudo fulmen uninstall
    An upgrade needs nothing of the kind, and jobs go on over it.
  EOS
end
