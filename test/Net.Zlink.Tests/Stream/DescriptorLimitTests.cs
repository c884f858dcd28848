using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A server that runs out of descriptors goes on serving those it has, and accepts again when there is room.</summary>
[Collection(Alone.Name)]
public sealed class DescriptorLimitTests
{
    private const int Limit = 256;
    private const int MoreThanTheLimit = 300;

    [Fact]
    public async Task A_server_out_of_descriptors_serves_its_peers_and_recovers()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "NOT TESTED HERE: only Linux lets this test give a child process few descriptors");
        await using ChildProcess child = Programs.Child().WithDescriptors(Limit).Start();
        string endpoint = (await child.ReadLineAsync("READY "))["READY ".Length..];
        var peers = new List<RawPeer>();
        for (int i = 0; i < MoreThanTheLimit; i++)
        {
            // The system completes connections on its own; those that the server cannot take wait in its queue.
            peers.Add(await RawPeer.ConnectAsync(endpoint));
        }

        await child.ReadLineAsync("ACCEPT_FAILED ");
        await AssertServesAsync(peers[0]);
        await AssertServesAsync(peers[100]);

        // Room again: those that waited are taken and served without anyone's help, and so are new ones.
        foreach (RawPeer peer in peers.Take(200))
        {
            peer.Dispose();
        }

        await AssertServesAsync(peers[^1]);
        using RawPeer latecomer = await RawPeer.ConnectAsync(endpoint);
        await AssertServesAsync(latecomer);
        peers.ForEach(static peer => peer.Dispose());
        child.EndInput();
        await child.ReadLineAsync("DONE ");
        Assert.Equal(new ProgramEnd(0, "", ""), await child.EndAsync());
    }

    private static async Task AssertServesAsync(RawPeer peer)
    {
        await peer.SendFrameAsync(1, 2, 3);
        Assert.Equal([1, 2, 3], (await peer.ReadFrameAsync())!);
    }
}
