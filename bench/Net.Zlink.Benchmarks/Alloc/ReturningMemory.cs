using System.Buffers;
using System.Threading.Channels;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Memory to hand over: a fixed number of arrays, each of which can be handed over again when the library has let go of it. A
/// pool's owners are made anew each time, and would be in the figure.</summary>
internal sealed class ReturningMemory
{
    private readonly Channel<Owner> _free;

    /// <param name="content">What is in each of them.</param>
    /// <param name="count">How many there are.</param>
    public ReturningMemory(byte[] content, int count)
    {
        _free = Channel.CreateBounded<Owner>(count);
        for (int i = 0; i < count; i++)
        {
            _free.Writer.TryWrite(new Owner(_free.Writer, [.. content]));
        }
    }

    /// <summary>Completes when there is one to take. One caller at a time: then nothing is allocated.</summary>
    public ValueTask<Owner> TakeAsync() => _free.Reader.ReadAsync();

    internal sealed class Owner(ChannelWriter<Owner> free, byte[] content) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory => content;

        public void Dispose()
        {
            if (!free.TryWrite(this))
            {
                throw new InvalidOperationException("Memory that was handed over once was let go of twice.");
            }
        }
    }
}
