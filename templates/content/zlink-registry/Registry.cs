using Net.Zlink.Extensions.Hosting;

namespace ZlinkApp1;

internal static class Registry
{
    /// <summary>Receivers register at its router, gateways follow its publisher. An entry lives while its heartbeats come.</summary>
    public static void AddRegistry(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink")).AddHealthCheck();
        builder.Services.AddZlinkRegistry(); // appsettings.json has its endpoints.
    }
}
