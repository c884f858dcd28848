using System.Globalization;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

/// <summary>A process with a small heap lives under messages that are large for it.</summary>
/// <remarks>With 64 MB the runtime itself ends 1 to 2 of 60 such processes, whatever the size of messages: docs/benchmarks.md.</remarks>
public sealed class SmallHeapTests
{
    private const int MiB = 1024 * 1024;

    [Theory]
    [InlineData("ROUTER", 128, 6)]
    [SlowInlineData("STREAM", 128, 6)]
    public async Task A_process_with_a_small_heap_survives_ten_peers_with_large_messages(string type, int heap, int message)
    {
        const int Messages = 150;
        const long IdleHeap = 10 * MiB;
        await using ChildProcess child = Programs
            .Child("small", type, (message * MiB).ToString(CultureInfo.InvariantCulture), $"{Messages}")
            .With("DOTNET_GCHeapHardLimit", (heap * (long)MiB).ToString("X", CultureInfo.InvariantCulture)).Start();
        string[] done = (await child.ReadLineAsync("DONE")).Split(' ');
        Assert.Equal(0, (await child.EndAsync()).Code);
        Assert.Equal(Messages, int.Parse(done[1], CultureInfo.InvariantCulture));
        Assert.InRange(long.Parse(done[2], CultureInfo.InvariantCulture), 0, IdleHeap);
    }
}
