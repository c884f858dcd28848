namespace Net.Zlink.Tests.Support;

/// <summary>A context, and a poller with room for its results.</summary>
public abstract class PollerTestBase : IAsyncDisposable
{
    private protected ZlinkContext Context { get; } = new();

    private protected Poller Poller { get; } = new();

    private protected PollResult[] Results { get; } = new PollResult[8];

    public async ValueTask DisposeAsync()
    {
        Poller.Dispose();
        await Context.DisposeAsync();
        GC.SuppressFinalize(this);
    }
}
