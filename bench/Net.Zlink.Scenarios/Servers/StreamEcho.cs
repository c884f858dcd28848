using System.Buffers;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>Echoes the frames of one stream until it ends.</summary>
internal static class StreamEcho
{
    private const int ReadSize = 64 * 1024;

    public static async Task RunAsync(Stream stream)
    {
        byte[] rest = [];
        int restLength = 0;
        while (true)
        {
            // Without a buffer while there is nothing to read.
            await stream.WaitForDataAsync();
            byte[] buffer = ArrayPool<byte>.Shared.Rent(restLength + ReadSize);
            try
            {
                rest.AsSpan(0, restLength).CopyTo(buffer);
                int read = await stream.ReadAsync(buffer.AsMemory(restLength));
                int length = restLength + read;
                int whole = Frames.WholeLength(buffer.AsSpan(0, length));
                if (read == 0 || whole < 0)
                {
                    return;
                }

                if (whole > 0)
                {
                    await stream.WriteAsync(buffer.AsMemory(0, whole));
                }

                restLength = length - whole;
                if (rest.Length < restLength)
                {
                    rest = new byte[Math.Max(restLength, Math.Min(Frames.FrameLength(buffer.AsSpan(whole)), 2 * restLength))];
                }

                buffer.AsSpan(whole, restLength).CopyTo(rest);
            }
            finally
            {
                ArrayPool<byte>.Shared.Return(buffer);
            }
        }
    }
}
