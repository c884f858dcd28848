using System.Globalization;
using Net.Zlink;
using Net.Zlink.Services;

namespace ServiceMesh;

/// <summary>A gateway that sends requests at a steady rate and checks each reply.</summary>
internal sealed class MeshGateway : IAsyncDisposable
{
    private static readonly TimeSpan SendInterval = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan RequestTimeout = TimeSpan.FromSeconds(2);

    private readonly RegistryDirectory _discovery;
    private readonly ServiceGateway _gateway;
    private readonly ServiceClient _client;
    private readonly Lock _gate = new();
    private readonly Dictionary<string, long> _replies = new(StringComparer.Ordinal);
    private readonly double[] _latencies = new double[1024];
    private long _started;
    private long _answered;
    private long _unanswered;
    private long _repeated;
    private string _remark = "";

    public MeshGateway(ZlinkContext context, RoleSettings settings)
    {
        _discovery = new RegistryDirectory(context, options: new RegistryDirectoryOptions
        {
            Socket = { ReconnectInterval = TimeSpan.FromMilliseconds(100) },
        });
        foreach (string registry in settings.Others)
        {
            _discovery.ConnectRegistry(registry);
        }

        _gateway = new ServiceGateway(context, _discovery, new ServiceGatewayOptions
        {
            Socket = { ReconnectInterval = TimeSpan.FromMilliseconds(100) },
        });
        _client = _gateway.GetClient(Role.ServiceName);
    }

    public RoleStatus GetStatus()
    {
        lock (_gate)
        {
            double[] sorted = [.. _latencies.AsSpan(0, (int)Math.Min(_answered, _latencies.Length))];
            Array.Sort(sorted);
            return new RoleStatus
            {
                Listed = [.. from receiver in _client.GetReceivers() where receiver.IsReady select receiver.Endpoint],
                Requests = _started,
                Answered = _answered,
                Unanswered = _unanswered,
                Repeated = _repeated,
                Passed = _gateway.GetStatistics().RequestsSentAgain,
                Replies = new Dictionary<string, long>(_replies, StringComparer.Ordinal),
                Percentile99 = sorted.Length == 0 ? 0 : sorted[sorted.Length * 99 / 100],
                Remark = _remark,
            };
        }
    }

    /// <summary>"ask RATE COUNT": begins to send so many requests, and returns.</summary>
    public Task ObeyAsync(string line)
    {
        string[] words = line.Split(' ');
        _ = AskAllAsync(int.Parse(words[1], CultureInfo.InvariantCulture), long.Parse(words[2], CultureInfo.InvariantCulture));
        return Task.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        await _gateway.DisposeAsync();
        await _discovery.DisposeAsync();
    }

    private async Task AskAllAsync(int rate, long count)
    {
        using var timer = new PeriodicTimer(SendInterval);
        long begin = TimeProvider.System.GetTimestamp();
        for (long sent = 0; sent < count && await timer.WaitForNextTickAsync();)
        {
            // What the clock says, so that the rate holds on a busy machine too.
            long due = Math.Min(count, (long)(TimeProvider.System.GetElapsedTime(begin).TotalSeconds * rate));
            for (; sent < due; sent++)
            {
                _ = AskAsync(Interlocked.Increment(ref _started));
            }
        }
    }

    private async Task AskAsync(long number)
    {
        try
        {
            using ServiceReply reply = await AskOnceOrTwiceAsync(number);
            Count(reply, isRight: BitConverter.ToInt64(reply.Span) == 2 * number, number);
        }
        catch (Exception e) when (e is ServiceException or TimeoutException or ZlinkException or ObjectDisposedException)
        {
            lock (_gate)
            {
                _unanswered++;
                _remark = e.Message;
            }
        }
    }

    /// <summary>A receiver that dies takes requests with it that it may have executed. To double a number twice does no harm, so these are
    /// sent once more; a refused request goes to another receiver by itself.</summary>
    private async Task<ServiceReply> AskOnceOrTwiceAsync(long number)
    {
        byte[] request = BitConverter.GetBytes(number);
        try
        {
            return await _client.RequestAsync(request, RequestTimeout);
        }
        catch (ServiceException e) when (e.Error == ServiceError.ReceiverLost)
        {
            Interlocked.Increment(ref _repeated);
            return await _client.RequestAsync(request, RequestTimeout);
        }
    }

    private void Count(in ServiceReply reply, bool isRight, long number)
    {
        lock (_gate)
        {
            if (!isRight)
            {
                _unanswered++;
                _remark = $"the reply to {number} is wrong";
                return;
            }

            _latencies[_answered++ % _latencies.Length] = reply.Elapsed.TotalMilliseconds;
            _replies[reply.Receiver.Endpoint] = _replies.GetValueOrDefault(reply.Receiver.Endpoint) + 1;
        }
    }
}
