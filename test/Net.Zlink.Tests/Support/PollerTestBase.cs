namespace Net.Zlink.Tests.Support;

/// <summary>A context whose pool knows who rented what, and a poller with room for its results.</summary>
public abstract class PollerTestBase : IAsyncDisposable
{
    private protected StreamFixture Fixture { get; } = new();

    private protected ZlinkContext Context => Fixture.Context;

    private protected Poller Poller { get; } = new();

    private protected PollResult[] Results { get; } = new PollResult[8];

    public async ValueTask DisposeAsync()
    {
        Poller.Dispose();
        await Fixture.DisposeAsync();
        GC.SuppressFinalize(this);
    }
}
