using Microsoft.AspNetCore.Cors.Infrastructure;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

namespace Net.Zlink.AspNetCore;

/// <summary>
/// Browsers send the user's cookies with a WebSocket request of any page, and no CORS check stops them. So the server must look at the
/// page's origin.
/// </summary>
internal static class OriginRule
{
    public static async ValueTask<bool> AllowsAsync(HttpContext context, ICollection<string> allowed)
    {
        string origin = context.Request.Headers.Origin.ToString();
        return origin.Length == 0 || allowed.Contains(origin) || IsOfHost(origin, context.Request.Host)
            || (await PolicyAsync(context).ConfigureAwait(false))?.IsOriginAllowed(origin) == true;
    }

    /// <summary>Without the scheme: a proxy in front may have ended TLS. It may also write the port that the page leaves out.</summary>
    private static bool IsOfHost(string origin, HostString host) => Uri.TryCreate(origin, UriKind.Absolute, out Uri? page)
        && string.Equals(page.Host, host.Host, StringComparison.OrdinalIgnoreCase)
        && (host.Port is { } port ? page.Port == port : page.IsDefaultPort);

    private static async ValueTask<CorsPolicy?> PolicyAsync(HttpContext context) =>
        context.GetEndpoint()?.Metadata.GetMetadata<ICorsMetadata>() switch
        {
            ICorsPolicyMetadata policy => policy.Policy,
            IEnableCorsAttribute named when context.RequestServices.GetService<ICorsPolicyProvider>() is { } policies =>
                await policies.GetPolicyAsync(context, named.PolicyName).ConfigureAwait(false),
            _ => null,
        };
}
