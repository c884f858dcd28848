using System.Collections.Concurrent;
using System.Diagnostics;
using Net.Zlink.Services;

namespace Samples.Shop;

/// <summary>The last traces, for the page. A real shop sends them to a collector.</summary>
internal sealed class Tracing : IDisposable
{
    private const int Kept = 60;

    private readonly ConcurrentQueue<Activity> _ended = new();
    private readonly ActivityListener _listener;

    public Tracing()
    {
        _listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is ServicesInstrumentation.ActivitySourceName,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) => ActivitySamplingResult.AllData,
            ActivityStopped = Add,
        };
        ActivitySource.AddActivityListener(_listener);
    }

    /// <summary>Whole traces, the newest first: the spans of the request and of its handler have one id.</summary>
    public IReadOnlyList<TraceFigures> Newest(int count) =>
    [
        .. _ended.GroupBy(static activity => activity.TraceId).Where(static trace => trace.Count() > 1).Reverse().Take(count)
            .Select(static trace =>
            {
                Activity front = trace.First(static activity => activity.Kind == ActivityKind.Producer);
                Activity stock = trace.First(static activity => activity.Kind == ActivityKind.Consumer);
                return new TraceFigures(
                    trace.Key.ToHexString()[..8], $"{stock.GetTagItem("item")}", $"{stock.GetTagItem("stock")}",
                    front.Duration.TotalMilliseconds, (stock.StartTimeUtc - front.StartTimeUtc).TotalMilliseconds,
                    stock.Duration.TotalMilliseconds);
            }),
    ];

    public void Dispose() => _listener.Dispose();

    private void Add(Activity activity)
    {
        _ended.Enqueue(activity);
        while (_ended.Count > Kept)
        {
            _ended.TryDequeue(out _);
        }
    }
}
