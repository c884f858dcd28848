namespace Net.Zlink.Services;

/// <summary>Which endpoints of a directory are connected to. A directory is only as trustworthy as all who may register in it. What the
/// application names itself is not asked about: <see cref="StaticDirectory"/>, <see cref="SpotNode.Connect"/>.</summary>
public sealed class DirectoryEndpointOptions
{
    private static readonly string[] Known = ["tcp", "ipc", "inproc", "tls", "ws", "wss"];

    /// <summary>The transports, such as "tcp". Empty (default): tcp, ws and inproc; tls and wss if the socket's client options for TLS are
    /// set; ipc if a registry is reached by ipc, inproc or a loopback address.</summary>
    public ICollection<string> Transports { get; private set; } = [];

    /// <summary>Also link-local and multicast addresses, such as 169.254.169.254. Default false. Host names are not resolved for this
    /// check.</summary>
    public bool AllowLinkLocal { get; set; }

    /// <summary>Asked about each endpoint that the other options allow, at any time on any thread: false refuses it. Default
    /// null.</summary>
    public Func<ZlinkEndpoint, bool>? Admission { get; set; }

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">A transport is none; the message says which there are.</exception>
    public void Validate()
    {
        foreach (string transport in Transports)
        {
            OptionTexts.OneOf(transport, Known, nameof(Transports));
        }
    }

    internal DirectoryEndpointOptions Copy()
    {
        var copy = (DirectoryEndpointOptions)MemberwiseClone();
        copy.Transports = [.. Transports];
        return copy;
    }
}

/// <summary>Who decides what a directory lists.</summary>
public enum DirectoryTrust
{
    /// <summary>All who can register in it, from any machine.</summary>
    Network = 0,

    /// <summary>Processes of this machine may be among them: it is reached by ipc, inproc or a loopback address.</summary>
    SameMachine = 1,

    /// <summary>The application, in code or configuration: nothing is refused.</summary>
    Application = 2,
}
