using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Kit;

/// <summary>The transports that a behaviour must be the same over, and endpoints of theirs that nobody else uses.</summary>
internal static class Link
{
    public const string Tcp = "tcp";
    public const string Ipc = "ipc";
    public const string Inproc = "inproc";

    public static TheoryData<string> All => [Tcp, Ipc, Inproc];

    public static TheoryData<string> Wires => [Tcp, Ipc];

    public static TheoryData<string> TcpAndInproc => [Tcp, Inproc];

    /// <summary>An endpoint to bind; Bind returns the one to connect to.</summary>
    public static string Any(string transport) => transport switch
    {
        Tcp => "tcp://127.0.0.1:0",
        Ipc => "ipc://*",
        _ => $"inproc://{Guid.NewGuid():N}",
    };
}
