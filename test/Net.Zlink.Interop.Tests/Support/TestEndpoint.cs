using Xunit;

namespace Net.Zlink.Interop.Tests.Support;

/// <summary>What carries the bytes.</summary>
public enum TestTransport
{
    Tcp,
    Ipc,

    /// <summary>Within one context: of ours alone, no two implementations meet there.</summary>
    Inproc,
}

/// <summary>Which transports there are.</summary>
internal static class TestTransports
{
    /// <summary>Those over which two implementations can meet.</summary>
    public static IReadOnlyList<TestTransport> BetweenImplementations { get; } = [TestTransport.Tcp, TestTransport.Ipc];
}

/// <summary>An endpoint to bind that nobody else has; its file goes with it.</summary>
internal sealed class TestEndpoint : IDisposable
{
    private readonly string? _file;

    public TestEndpoint(TestTransport transport)
    {
        Assert.SkipWhen(transport is TestTransport.Ipc && OperatingSystem.IsWindows(), "the native core has no ipc on Windows");

        // Short: a path of more than 107 bytes is no ipc endpoint.
        _file = transport is TestTransport.Ipc ? Path.Combine(Path.GetTempPath(), $"zl-{Guid.NewGuid():N}") : null;
        Text = transport switch
        {
            TestTransport.Tcp => "tcp://127.0.0.1:0",
            TestTransport.Ipc => $"ipc://{_file}",
            _ => "inproc://here", // of a context that has no other
        };
    }

    public string Text { get; }

    public void Dispose()
    {
        if (_file is not null)
        {
            File.Delete(_file); // which is no error if there is none
        }
    }
}
