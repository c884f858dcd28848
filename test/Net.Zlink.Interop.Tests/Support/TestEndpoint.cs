using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>What carries the bytes.</summary>
public enum TestTransport
{
    Tcp,
    Ipc,
    Tls,
    Ws,
    Wss,

    /// <summary>Within one context: of ours alone, no two implementations meet there.</summary>
    Inproc,
}

/// <summary>Which transports there are.</summary>
internal static class TestTransports
{
    /// <summary>Those over which two implementations can meet, whatever the scenario.</summary>
    public static IReadOnlyList<TestTransport> BetweenImplementations { get; } = [TestTransport.Tcp, TestTransport.Ipc];

    /// <summary>Those with a handshake of their own below the protocol's; what goes over them is the same.</summary>
    public static IReadOnlyList<TestTransport> Layered { get; } = [TestTransport.Tls, TestTransport.Ws, TestTransport.Wss];

    /// <summary>Both kinds: for scenarios that take little time.</summary>
    public static IReadOnlyList<TestTransport> All { get; } = [.. BetweenImplementations, .. Layered];

    /// <summary>Those that a <see cref="TcpRelay"/> carries.</summary>
    public static IReadOnlyList<TestTransport> Relayed { get; } = [TestTransport.Tcp, .. Layered];
}

/// <summary>An endpoint to bind that nobody else has; its file goes with it.</summary>
internal sealed class TestEndpoint : IDisposable
{
    private readonly string? _file;
    private readonly TestCertificates? _certificates;

    public TestEndpoint(TestTransport transport)
    {
        Transport = transport;
        Assert.SkipWhen(transport is TestTransport.Ipc && OperatingSystem.IsWindows(), "the native core has no ipc on Windows");

        // Short: a path of more than 107 bytes is no ipc endpoint.
        _file = transport is TestTransport.Ipc ? Path.Combine(Path.GetTempPath(), $"zl-{Guid.NewGuid():N}") : null;
        _certificates = transport is TestTransport.Tls or TestTransport.Wss ? new TestCertificates() : null;
        Text = transport switch
        {
            TestTransport.Tcp => "tcp://127.0.0.1:0",
            TestTransport.Ipc => $"ipc://{_file}",
            TestTransport.Tls => "tls://127.0.0.1:0",
            TestTransport.Ws => "ws://127.0.0.1:0/some/path",
            TestTransport.Wss => "wss://127.0.0.1:0/",
            _ => "inproc://here", // of a context that has no other
        };
    }

    public TestTransport Transport { get; }

    public string Text { get; }

    /// <summary>What TLS needs, where there is TLS.</summary>
    public TestCertificates? Certificates => _certificates;

    /// <summary>Gives a side what TLS needs, as file names: a certificate, and whom to trust.</summary>
    public void Equip(IPeerSocket socket)
    {
        if (_certificates is not null)
        {
            socket.SetOption(NativeOption.TlsCert, _certificates.CertificateFile);
            socket.SetOption(NativeOption.TlsKey, _certificates.KeyFile);
            socket.SetOption(NativeOption.TlsCa, _certificates.CaFile);
        }
    }

    /// <summary>The same for both sides; the binder, whose certificate the connecter checks, demands one too.</summary>
    public void Equip(IPeerSocket binder, IPeerSocket connecter)
    {
        Equip(binder);
        Equip(connecter);
        if (_certificates is not null)
        {
            binder.SetOption(NativeOption.TlsRequireClientCert, 1);
        }
    }

    /// <summary>Gives both what TLS needs, binds the one and connects the other. Returns where the one is bound.</summary>
    public string Connect(IPeerSocket binder, IPeerSocket connecter)
    {
        Equip(binder, connecter);
        string bound = binder.Bind(Text);
        connecter.Connect(bound);
        return bound;
    }

    public void Dispose()
    {
        _certificates?.Dispose();
        if (_file is not null)
        {
            File.Delete(_file); // which is no error if there is none
        }
    }
}
