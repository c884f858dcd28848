using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>Accepted connections on their way through their transport's handshake: so many of a context at once, the others wait in line with nothing but their socket.</summary>
/// <remarks>Only accepted ones: if those that this process makes took places too, two sockets of one context could wait for each other.</remarks>
/// <param name="most">How many run at once.</param>
internal sealed class HandshakeLine(int most)
{
    /// <summary>
    /// TLS costs about 50 KB while it shakes hands, so a flood of clients that never finish holds 50 MB; and a connecting crowd of 10,000 waits for processors, not for places.
    /// </summary>
    public const int Default = 1024;

    private readonly SemaphoreSlim _places = new(most, most);

    /// <summary>Waits for a place and runs a handshake. The task never fails.</summary>
    public async Task<UpgradeResult> RunAsync(WireUpgrade upgrade, Socket socket, BufferPool pool, TimeProvider time, CancellationToken cancellation)
    {
        // Off the accept loop's stack.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        try
        {
            await _places.WaitAsync(cancellation).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            socket.Dispose();
            return UpgradeResult.Cancelled;
        }

        Task? farewell = null;
        try
        {
            UpgradeResult result = await upgrade.RunAsync(socket, pool, time, cancellation).ConfigureAwait(false);
            farewell = result.Farewell;
            return result;
        }
        finally
        {
            if (farewell is null)
            {
                _places.Release();
            }
            else
            {
                _ = ReleaseBehindAsync(farewell); // A refused peer that does not leave keeps its place: a flood of them costs no more than one of slow ones.
            }
        }
    }

    private async Task ReleaseBehindAsync(Task farewell)
    {
        await farewell.ConfigureAwait(false);
        _places.Release();
    }
}
