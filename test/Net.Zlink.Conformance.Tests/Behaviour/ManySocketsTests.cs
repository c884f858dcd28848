using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_many_sockets.</summary>
public sealed class ManySocketsTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(10)]
    public async Task A_context_makes_as_many_sockets_as_it_may_and_then_says_EMFILE(int limit)
    {
        var options = new ZlinkContextOptions();
        options.MaxSockets = limit == 0 ? options.MaxSockets : limit;
        await using var context = new ZlinkContext(options);
        var sockets = new List<PairSocket>();
        for (int i = 0; i < (limit == 0 ? 1023 : limit); i++)
        {
            sockets.Add(context.CreatePair());
        }

        for (int i = 0; i < 10; i++)
        {
            SocketWords.Fails("EMFILE", () => context.CreatePair());
        }

        // A place comes back with a socket's end.
        sockets[0].Dispose();
        PairSocket? next = null;
        long started = TimeProvider.System.GetTimestamp();
        while (next is null && TimeProvider.System.GetElapsedTime(started) < Guard.Limit)
        {
            try
            {
                next = context.CreatePair();
            }
            catch (ZlinkException)
            {
                await Task.Yield();
            }
        }

        Assert.NotNull(next);
    }
}
