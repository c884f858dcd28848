using Net.Zlink.Services;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;

namespace Net.Zlink.Extensions.OpenTelemetry;

/// <summary>Collects traces and metrics of Net.Zlink.</summary>
public static class ZlinkInstrumentationExtensions
{
    /// <summary>Collects the spans of requests. Each reply belongs to the trace of its request, across processes.</summary>
    /// <param name="builder">The tracer provider.</param>
    /// <returns>The builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static TracerProviderBuilder AddZlinkInstrumentation(this TracerProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddSource(ServicesInstrumentation.ActivitySourceName);
    }

    /// <summary>Collects the metrics of contexts, sockets and services, with the durations of requests and handlers as
    /// histograms.</summary>
    /// <param name="builder">The meter provider.</param>
    /// <returns>The builder.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="builder"/> is null.</exception>
    public static MeterProviderBuilder AddZlinkInstrumentation(this MeterProviderBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        return builder.AddMeter(ZlinkLibrary.MeterName);
    }
}
